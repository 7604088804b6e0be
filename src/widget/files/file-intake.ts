/** Handlers of the panel, for files that are pasted or dropped anywhere on it. */
export interface FileIntake {
  onDragOver(event: DragEvent): void;
  onDragLeave(event: DragEvent): void;
  onDrop(event: DragEvent): void;
  onPaste(event: ClipboardEvent): void;
}

export function fileIntake(addFiles: (files: readonly File[]) => void): FileIntake {
  return {
    onDragOver(event) {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      mark(event, true);
    },
    onDragLeave(event) {
      const { currentTarget, relatedTarget } = event;
      const isInside =
        currentTarget instanceof Node &&
        relatedTarget instanceof Node &&
        currentTarget.contains(relatedTarget);
      if (!isInside) mark(event, false);
    },
    onDrop(event) {
      mark(event, false);
      const files = event.dataTransfer?.files ?? [];
      if (files.length === 0) return;
      event.preventDefault();
      addFiles([...files]);
    },
    onPaste(event) {
      const { clipboardData } = event;
      // Content copied from a word processor is text, with a picture of it.
      if (clipboardData === null || clipboardData.types.includes("text/plain")) return;
      if (clipboardData.files.length === 0) return;
      event.preventDefault();
      addFiles([...clipboardData.files]);
    },
  };
}

/** Shows that the panel accepts the file held over it. */
function mark({ currentTarget }: DragEvent, isOver: boolean): void {
  if (currentTarget instanceof Element) currentTarget.classList.toggle("over", isOver);
}

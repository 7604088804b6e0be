import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

/** A dialog over the page; Escape and a press beside it close it. The browser keeps the focus in it, and gives it back. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before it is taken out of the page: the browser gives the focus back from an open dialog alone.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      // What the browser closes goes at once: its "close" comes some time after, when another may be open already.
      onCancel={onClose}
      onClose={() => ref.current && onClose()}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <div class="dialog">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

/** A dialog over the page; Escape and a click beside it close it. The browser keeps the focus in it, and returns it. */
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
  // Closed before it is removed from the page: the browser returns the focus only from an open dialog.
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

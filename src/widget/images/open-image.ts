import type { MessageImage } from "./message-image.ts";

/**
 * Shows an image in full, above everything. Esc, the button and a click anywhere close it; the browser then returns the
 * focus to where it was.
 */
export function openImage(
  root: ShadowRoot,
  { url, alt, close }: Pick<MessageImage, "url"> & { alt: string; close: string },
): void {
  const dialog = document.createElement("dialog");
  dialog.className = "viewer";
  dialog.setAttribute("part", "viewer");
  dialog.ariaLabel = alt;
  const image = document.createElement("img");
  image.src = url;
  image.alt = alt;
  image.referrerPolicy = "no-referrer";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "shut";
  button.ariaLabel = close;
  button.title = close;
  button.textContent = "×";
  dialog.append(button, image);
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  root.append(dialog);
  dialog.showModal();
}

import type { LoadedStrings } from "./strings.ts";

/** The English texts of what only the second file shows. */
export const enLoaded: LoadedStrings = {
  addImages: "Add images",
  removeImage: "Remove {name}",
  image: "Image",
  closeImage: "Close image",
  dropImages: "Drop images here",
  imagesNeedText: "Write a few words about it to send it.",
  notAnImage: "Only PNG, JPEG, WebP and GIF images can be sent.",
  tooManyImages: "At most {n} images at once.",
  imagesTooLarge: "These images are too large.",
  back: "Back to the conversation",
  more: "Show more",
  newMessages: "new messages",
  noChats: "No conversations yet.",
};

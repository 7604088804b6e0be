import type { LoadedStrings } from "../strings/strings.ts";
import type { DraftImage } from "./draft-image.ts";
import { fitImages } from "./fit-images.ts";
import { IMAGE_TYPES, MAX_IMAGES } from "./message-image.ts";

/** The composer's images as they are shown, and the way to change them. */
export interface ComposerImages {
  readonly state: { readonly images: readonly DraftImage[]; readonly imageRoom: number | null };
  change(change: {
    images?: readonly DraftImage[];
    isFitting?: boolean;
    isQueued?: boolean;
    announcement?: string;
    notice?: null;
  }): void;
  notify(text: string, alert: boolean): void;
}

/** Scales down the images among these files, adds them to the composer, and says which could not be added. */
export async function addImages(
  files: readonly File[],
  composer: ComposerImages,
  strings: LoadedStrings,
): Promise<void> {
  const { images, imageRoom } = composer.state;
  if (imageRoom === null || files.length === 0) return;
  const refuse = (text: string) => composer.notify(text.replace("{n}", String(MAX_IMAGES)), true);
  const readable = files.filter(({ type }) => IMAGE_TYPES.includes(type));
  const chosen = readable.slice(0, MAX_IMAGES - images.length);
  if (readable.length < files.length) refuse(strings.notAnImage);
  else if (chosen.length < readable.length) refuse(strings.tooManyImages);
  else composer.change({ notice: null });
  if (chosen.length === 0) return;
  composer.change({ isFitting: true });
  try {
    const fitted = await fitImages([...images, ...chosen.map(asDraft)], imageRoom);
    if (fitted === null) return refuse(strings.imagesTooLarge);
    if (fitted.length < images.length + chosen.length) refuse(strings.notAnImage);
    show(composer, images, fitted);
  } finally {
    composer.change({ isFitting: false });
  }
}

function show(composer: ComposerImages, before: readonly DraftImage[], fitted: readonly DraftImage[]): void {
  const now = composer.state.images;
  const added = fitted.slice(before.length);
  // Some may have been removed or sent meanwhile.
  const isAsBefore = before.every((image) => now.includes(image));
  composer.change({
    images: isAsBefore ? fitted : [...now, ...added],
    isQueued: false,
    announcement: added.map(({ name = "" }) => name).join(", "),
  });
}

/** The name as the service accepts it: short, without control characters or the half of a cut surrogate pair. */
function asDraft(source: File): Partial<DraftImage> {
  const name = source.name.slice(0, 100).replace(/[\p{Cc}\p{Cs}]/gu, "");
  return name === "" ? { source } : { source, name };
}

/** The longer side: models scale down what is larger. */
const MAX_SIDE_PX = 1_568;

/** Smaller images are not recognizable. */
const MIN_SIDE_PX = 256;

/** JPEG qualities, the best first. */
const QUALITIES = [0.9, 0.75, 0.6, 0.45];

/** A file that is called an image need not be one: a file that is sent unchanged must begin like this. */
const AS_IT_IS: Readonly<Record<string, string>> = {
  "image/png": "data:image/png;base64,iVBORw0KGgo",
  "image/gif": "data:image/gif;base64,R0lGOD",
};

/**
 * The image as a data: URL of at most `maxChars` characters, its longer side at most 1,568 px; null if it cannot be made
 * that small. Rejects if the browser cannot read it.
 *
 * Every JPEG is re-encoded, even a small one: models that ignore EXIF then see it upright, and it does not reveal where
 * it was taken.
 */
export async function encodeImage(file: Blob, maxChars: number): Promise<string | null> {
  const bitmap = await createImageBitmap(file, { imageOrientation: "from-image" });
  try {
    const longer = Math.max(bitmap.width, bitmap.height);
    const asItIs = await unchanged(file, longer);
    if (asItIs !== null && asItIs.length <= maxChars) return asItIs;
    let side = Math.min(MAX_SIDE_PX, longer);
    do {
      const url = await encodeAt(bitmap, side / longer, file.type, maxChars);
      if (url !== null) return url;
      side *= 0.75;
    } while (side >= MIN_SIDE_PX);
    return null;
  } finally {
    bitmap.close();
  }
}

/** A PNG that is small enough, or a GIF, which may be animated; null for any other file. */
async function unchanged(file: Blob, longer: number): Promise<string | null> {
  const begin = AS_IT_IS[file.type];
  if (begin === undefined || (file.type === "image/png" && longer > MAX_SIDE_PX)) return null;
  const url = await dataUrl(file);
  return url.startsWith(begin) ? url : null;
}

async function encodeAt(
  bitmap: ImageBitmap,
  scale: number,
  type: string,
  maxChars: number,
): Promise<string | null> {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) return null;
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const isClear = type !== "image/jpeg" && hasTransparency(context);
  for (const quality of isClear ? [undefined] : QUALITIES) {
    const blob = await new Promise<Blob | null>((resolve) =>
      canvas.toBlob(resolve, isClear ? "image/png" : "image/jpeg", quality),
    );
    // Four characters for three bytes.
    if (blob !== null && blob.size * (4 / 3) + 40 <= maxChars) return await dataUrl(blob);
  }
  return null;
}

function hasTransparency(context: CanvasRenderingContext2D): boolean {
  const { data } = context.getImageData(0, 0, context.canvas.width, context.canvas.height);
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return true;
  return false;
}

async function dataUrl(blob: Blob): Promise<string> {
  const reader = new FileReader();
  return await new Promise((resolve, reject) => {
    reader.onloadend = () => {
      if (typeof reader.result === "string") resolve(reader.result);
      else reject(new Error("Cannot read the image", { cause: reader.error }));
    };
    reader.readAsDataURL(blob);
  });
}

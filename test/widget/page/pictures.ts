import type { Page } from "playwright-core";

/** A file as a visitor chooses it. */
export interface Picture {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

interface Paint {
  width: number;
  height: number;
  type?: "image/png" | "image/jpeg";
  /** How much of it is left out, from the left: 0 to 1. */
  clear?: number;
  /** Every point is another colour: nothing makes it small. */
  noise?: boolean;
}

/** A picture as Chromium encodes it: a sky over a field, with a sun in it. */
export async function paint(page: Page, name: string, options: Paint): Promise<Picture> {
  const { width, height, type = "image/png", clear = 0, noise = false } = options;
  const base64 = await page.evaluate<string>(`(async () => {
    const canvas = new OffscreenCanvas(${width}, ${height});
    const context = canvas.getContext("2d");
    const fill = (colour, ...box) => ((context.fillStyle = colour), context.fillRect(...box));
    fill("#8ecae6", 0, 0, ${width}, ${height});
    fill("#52803c", 0, ${height * 0.6}, ${width}, ${height});
    context.fillStyle = "#ffb703";
    context.arc(${width * 0.7}, ${height * 0.3}, ${Math.min(width, height) * 0.14}, 0, 7);
    context.fill();
    if (${noise}) {
      const image = context.getImageData(0, 0, ${width}, ${height});
      let seed = 1;
      for (let at = 0; at < image.data.length; at += 1)
        if (at % 4 !== 3) image.data[at] = (seed = (seed * 48271) % 2147483647) & 255;
      context.putImageData(image, 0, 0);
    }
    context.clearRect(0, 0, ${width * clear}, ${height});
    const blob = await canvas.convertToBlob({ type: "${type}" });
    const reader = new FileReader();
    await new Promise((resolve) => ((reader.onload = resolve), reader.readAsDataURL(blob)));
    return reader.result.split(",")[1];
  })()`);
  return { name, mimeType: type, buffer: Buffer.from(base64, "base64") };
}

/** The JPEG as a camera that was held on its side writes it: EXIF says by how much it is to be turned. */
export function turned(picture: Picture, orientation: number): Picture {
  const exif = Buffer.from(
    "457869660000" +
      "4d4d002a00000008" +
      `0001${"0112"}${"0003"}${"00000001"}` +
      `000${orientation}0000` +
      "00000000",
    "hex",
  );
  const head = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  const { buffer } = picture;
  return { ...picture, buffer: Buffer.concat([buffer.subarray(0, 2), head, exif, buffer.subarray(2)]) };
}

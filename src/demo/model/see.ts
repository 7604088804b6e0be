import { imageSize } from "./image-size.ts";
import { pngPixels } from "./png-pixels.ts";
import type { Pixel } from "./png-pixels.ts";

/** The number of pixels to sample: enough to recognize colours. */
const PIXELS = 5_000;
/** The least share of the pixels for a colour to be named. */
const LEAST_SHARE = 0.1;
const MOST_COLOURS = 3;

/** The demo model's description of an image: its type, its size, and a PNG's colours. It fetches no address. */
export function see(url: string): string {
  const [, type = "", base64 = ""] = /^data:(image\/[a-z]+);base64,(.*)$/s.exec(url) ?? [];
  if (type === "") return new URL(url).hostname;
  const bytes = Buffer.from(base64, "base64");
  const size = imageSize(type, bytes);
  const colours = type === "image/png" ? coloursOf(pngPixels(bytes, PIXELS) ?? []) : [];
  return [
    type.slice("image/".length).toUpperCase(),
    ...(size === null ? [] : [`${size.width} × ${size.height}`]),
    ...(colours.length === 0 ? [] : [colours.join(", ")]),
  ].join(", ");
}

/** The most frequent first. */
function coloursOf(pixels: readonly Pixel[]): string[] {
  const counts = new Map<string, number>();
  for (const pixel of pixels) {
    const name = colourOf(pixel);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count >= pixels.length * LEAST_SHARE)
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_COLOURS)
    .map(([name]) => name);
}

/** Colours by hue: the upper end of each, in degrees. */
const HUES: readonly [number, string][] = [
  [15, "red"],
  [45, "orange"],
  [70, "yellow"],
  [165, "green"],
  [200, "cyan"],
  [260, "blue"],
  [295, "purple"],
  [345, "pink"],
  [360, "red"],
];

function colourOf([red, green, blue, opacity]: Pixel): string {
  if (opacity < 128) return "transparent";
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  if (most < 40) return "black";
  const range = most - least;
  if (range < 30) return most > 215 ? "white" : "grey";
  const sixth =
    most === red
      ? ((green - blue) / range + 6) % 6
      : most === green
        ? (blue - red) / range + 2
        : (red - green) / range + 4;
  const hue = HUES.find(([end]) => sixth * 60 <= end)?.[1] ?? "red";
  return hue === "orange" && most < 160 ? "brown" : hue;
}

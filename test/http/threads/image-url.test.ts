// For src/http/files/image-url.ts
import { expect, test } from "vitest";
import { isImageUrl } from "../../../src/http/files/image-url.ts";
import { imageOf, TINY_PNG } from "../../support/images.ts";

const bytesOf = (url: string) => url.slice(url.indexOf(",") + 1);

test.each<[string, string]>([
  ["a PNG", TINY_PNG],
  ["a JPEG", imageOf("jpeg")],
  ["a GIF", imageOf("gif")],
  ["a WebP", imageOf("webp")],
  ["an address", "https://cdn.example/photo?id=7#x"],
  ["an address in capitals", "HTTPS://CDN.example/photo.png"],
  ["a public address", "https://93.184.216.34/a.jpg"],
  ["an address with a port", "https://cdn.example:8443/a.jpg"],
])("%s is an image", (_what, url) => {
  expect(isImageUrl(url)).toBe(true);
});

test.each<[string, string]>([
  ["nothing", ""],
  ["a text", "photo.png"],
  ["plain HTTP", "http://cdn.example/photo.png"],
  ["another scheme", "blob:https://cdn.example/1"],
  ["a file", "file:///etc/passwd"],
  ["an address with a name", "https://me@cdn.example/photo.png"],
  ["an address with a key", "https://me:key@cdn.example/photo.png"],
  ["an address without a host", "https:///photo.png"],
  ["an address with a space", "https://cdn.example/my photo.png"],
  ["an address with a line end", "https://cdn.example/photo.png\nx"],
  ["an address that is too long", `https://cdn.example/${"x".repeat(2_048)}`],
  ...[
    "https://127.0.0.1/a.png",
    "https://0x7f.1/a.png",
    "https://2130706433/a.png",
    "https://10.0.0.1/a.png",
    "https://169.254.169.254/latest/meta-data/",
    "https://168.63.129.16/a.png",
    "https://[::1]/a.png",
    "https://[::ffff:10.0.0.1]/a.png",
    "https://[::ffff:0:127.0.0.1]/a.png",
    "https://localhost/a.png",
    "https://metadata.google.internal/a.png",
    "https://intranet/a.png",
  ].map((url): [string, string] => [`G4: the private address ${url}`, url]),
  ["a drawing", `data:image/svg+xml;base64,${Buffer.from("<svg/>").toString("base64")}`],
  ["a page", `data:text/html;base64,${Buffer.from("<p>").toString("base64")}`],
  ["a type with a parameter", TINY_PNG.replace(";base64", ";charset=utf-8;base64")],
  ["a type in capitals", TINY_PNG.replace("image/png", "IMAGE/PNG")],
  ["no base64", "data:image/png,%89PNG"],
  ["no bytes", "data:image/png;base64,"],
  ["the bytes of another type", `data:image/png;base64,${bytesOf(imageOf("jpeg"))}`],
  ["base64 with a space", `${TINY_PNG.slice(0, 60)} ${TINY_PNG.slice(60)}`],
  ["base64 for addresses", imageOf("jpeg").replaceAll("/", "_").replace("image_jpeg", "image/jpeg")],
  ["base64 without its end", TINY_PNG.replace(/=+$/, "")],
  ["base64 with bits that say nothing", imageOf("png", 64).replace(/.==$/, "B==")],
])("%s is none", (_what, url) => {
  expect(isImageUrl(url)).toBe(false);
});

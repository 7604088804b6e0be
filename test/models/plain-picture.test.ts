// For src/models/plain-picture.ts
import { expect, test } from "vitest";
import { see } from "../../src/demo/model/see.ts";
import { isImageUrl } from "../../src/http/files/image-url.ts";
import { plainPicture } from "../../src/models/plain-picture.ts";

test("a plain picture is a PNG of its one colour, which the service itself would take", () => {
  const picture = plainPicture([128, 0, 160]);
  expect(isImageUrl(picture)).toBe(true);
  expect(see(picture)).toBe("PNG, 64 × 64, purple");
});

import type { VNode } from "preact";
import { hasTooManyPixels } from "../../../domain/threads/image-dimensions.ts";
import { openImage } from "../../images/open-image.ts";
import type { MessageImage } from "../../images/message-image.ts";
import type { Strings } from "../../strings/strings.ts";

/** The images of a visitor's message, each in a box of fixed size, so that nothing moves when they load. */
export function MessageImages(props: { images: readonly MessageImage[]; strings: Strings }): VNode {
  const { images, strings } = props;
  return (
    <div class={images.length === 1 ? "pictures single" : "pictures"}>
      {images.map(({ url, name = strings.image }, nth) => (
        <button
          key={nth}
          type="button"
          class="picture"
          part="image"
          aria-haspopup="dialog"
          onClick={({ currentTarget }) => {
            const root = currentTarget.getRootNode();
            if (root instanceof ShadowRoot && !hasTooManyPixels(url))
              openImage(root, { url, alt: name, close: strings.closeImage });
          }}
        >
          {/* Without an address its name is shown. */}
          <img
            src={hasTooManyPixels(url) ? undefined : url}
            alt={name}
            decoding="async"
            referrerpolicy="no-referrer"
          />
        </button>
      ))}
    </div>
  );
}

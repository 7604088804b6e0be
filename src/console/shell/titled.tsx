import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { nameRoom } from "./title.ts";

/** A room with its heading, its place and its actions; the tab's title is its name. */
export function Titled({
  title,
  above,
  actions,
  fills = false,
  children,
}: {
  title: string;
  /** Links to the rooms around it. */
  above?: ComponentChildren;
  actions?: ComponentChildren;
  /** True: it is as tall as the window, and its parts scroll. */
  fills?: boolean;
  children: ComponentChildren;
}) {
  useEffect(() => {
    nameRoom(title);
  }, [title]);
  return (
    <section class={fills ? "room fills" : "room"} aria-labelledby="room-title">
      <div class="head">
        <div>
          {above !== undefined && <p class="above">{above}</p>}
          <h1 id="room-title">{title}</h1>
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

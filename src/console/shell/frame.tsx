import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Me } from "../service/views.ts";
import { useFreshThreads } from "../inbox/fresh-threads.ts";
import { Unread } from "../inbox/unread.ts";
import { useConsole } from "./console-context.ts";
import { Find } from "./find.tsx";
import { placesOf } from "./places.ts";
import { useRoute } from "./route.ts";
import { useShortcuts } from "./shortcuts.ts";
import { ShortcutsHelp } from "./shortcuts-help.tsx";

/** The navigation, at the side or above on a narrow page, and the room. */
export function Frame({
  me,
  onSignOut,
  children,
}: {
  me: Me;
  onSignOut: () => void;
  children: ComponentChildren;
}) {
  const route = useRoute();
  const places = placesOf(me);
  const [open, setOpen] = useState<"find" | "keys" | null>(null);
  useShortcuts({ places, onFind: () => setOpen("find"), onHelp: () => setOpen("keys") });
  const main = useRef<HTMLElement>(null);
  const place = route.path.join("/");
  useFocusOnRoom(main.current, place);
  const [room, , kind, openId = null] = route.path;
  const { fresh, unread } = useFreshThreads(useConsole().events, {
    reader: me.name,
    isInInbox: room === "inbox",
    openId: kind === "threads" ? openId : null,
  });
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a narrow page the rooms are one line, which is wider than the page.
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [place]);
  return (
    <div class="frame">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // The console uses the fragment for its own addresses.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <header>
        <p class="brand">Console</p>
        <nav class="rooms" aria-label="Pages" ref={nav}>
          {places.map(({ name, link, letter, has }) => (
            <a
              key={name}
              href={link}
              aria-current={has(route.path) ? "page" : undefined}
              aria-keyshortcuts={`g ${letter}`}
            >
              {name}
              {name === "Inbox" && fresh > 0 && <span class="new">{fresh} new</span>}
              {name === "Inbox" && unread.size > 0 && <span class="new">{unread.size} unread</span>}
            </a>
          ))}
        </nav>
        <div class="tools">
          <button type="button" class="find" onClick={() => setOpen("find")} aria-keyshortcuts="/">
            Find <kbd>/</kbd>
          </button>
          <p class="me">
            <span>
              {me.name}, {me.role}
            </span>
            <button type="button" class="link" onClick={() => setOpen("keys")} aria-keyshortcuts="?">
              Keys
            </button>
            <button type="button" class="link" onClick={onSignOut}>
              Sign out
            </button>
          </p>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Unread.Provider value={unread}>{children}</Unread.Provider>
      </main>
      {open === "find" && <Find onClose={() => setOpen(null)} />}
      {open === "keys" && <ShortcutsHelp places={places} onClose={() => setOpen(null)} />}
    </div>
  );
}

/** A new room gets the focus at its top: a screen reader announces it, and Tab continues from there. */
function useFocusOnRoom(main: HTMLElement | null, place: string): void {
  const before = useRef(place);
  // Before anything is shown: code that moves the focus within the room runs later.
  useLayoutEffect(() => {
    if (before.current === place) return;
    before.current = place;
    main?.focus({ preventScroll: true });
  }, [place]);
}

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Rows rendered beyond the visible ones, so that a quick scroll shows no gap. */
const BESIDE = 8;
/** How many rows before the end the next page is requested. */
const BEFORE_END = 30;

/**
 * A long list of which only the visible rows are rendered: all rows have the same height, so nothing moves when rows
 * arrive. Arrows, Page, Home and End move between rows; the row's own link opens it.
 */
export function VirtualList<Item>({
  items,
  keyOf,
  label,
  rowHeight,
  hasMore = false,
  onMore = () => {},
  mayFocus = () => true,
  children,
}: {
  items: readonly Item[];
  keyOf: (item: Item, index: number) => string;
  label: string;
  rowHeight: number;
  hasMore?: boolean;
  onMore?: () => void;
  /** False for a row without controls. */
  mayFocus?: (item: Item) => boolean;
  /** A row; `tabIndex` is for its controls: only one row is in the tab order. */
  children: (item: Item, tabIndex: 0 | -1) => ComponentChildren;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const [active, setActive] = useState(0);
  const wantsFocus = useRef(false);

  const look = () => {
    const box = scroller.current;
    if (box) setView({ top: box.scrollTop, height: box.clientHeight });
  };
  useLayoutEffect(() => {
    look();
    const watcher = new ResizeObserver(look);
    if (scroller.current) watcher.observe(scroller.current);
    return () => watcher.disconnect();
  }, []);

  /** The row itself, or the next one that may have the focus: in this direction, or in the other. */
  function nearest(index: number, by: 1 | -1): number | null {
    for (const step of [by, -by])
      for (let at = index; at >= 0 && at < items.length; at += step) {
        const item = items[at];
        if (item !== undefined && mayFocus(item)) return at;
      }
    return null;
  }

  const from = Math.max(0, Math.floor(view.top / rowHeight) - BESIDE);
  const to = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + BESIDE);
  useEffect(() => {
    if (hasMore && to + BEFORE_END >= items.length) onMore();
  }, [hasMore, to, items.length]);

  const current = nearest(Math.min(active, Math.max(0, items.length - 1)), 1) ?? 0;
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    const row = scroller.current?.querySelector(`[data-index="${current}"]`);
    row?.querySelector<HTMLElement>("a, button, [tabindex]")?.focus({ preventScroll: true });
  });

  const move = (to: number) => {
    const box = scroller.current;
    if (!box) return;
    const index = nearest(Math.min(Math.max(0, to), items.length - 1), to < current ? -1 : 1);
    if (index === null) return;
    const top = index * rowHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + rowHeight > box.scrollTop + box.clientHeight)
      box.scrollTop = top + rowHeight - box.clientHeight;
    wantsFocus.current = true;
    setActive(index);
    look();
  };
  const press = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || isField(event.target)) return;
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const moves: Record<string, number> = {
      ArrowDown: current + 1,
      j: current + 1,
      ArrowUp: current - 1,
      k: current - 1,
      PageDown: current + page,
      PageUp: current - page,
      Home: 0,
      End: items.length - 1,
    };
    const next = moves[event.key];
    if (next === undefined) return;
    event.preventDefault();
    move(next);
  };

  // The focused row stays rendered, wherever the list was scrolled to.
  const drawn = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
  if (items.length > 0 && (current < from || current >= to)) drawn.push(current);
  return (
    <div class="scroller" ref={scroller} onScroll={look} onKeyDown={press}>
      <ul role="list" aria-label={label} style={{ blockSize: `${items.length * rowHeight}px` }}>
        {drawn.map((index) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <li
              key={keyOf(item, index)}
              data-index={index}
              aria-setsize={hasMore ? -1 : items.length}
              aria-posinset={index + 1}
              style={{ blockSize: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
              onFocusIn={() => setActive(index)}
            >
              {children(item, index === current ? 0 : -1)}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName);
}

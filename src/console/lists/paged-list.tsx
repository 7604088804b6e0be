import type { ComponentChildren } from "preact";
import { Trouble } from "../parts/trouble.tsx";
import type { Paged } from "./paged.ts";
import { VirtualList } from "./virtual-list.tsx";

/** The height of a row of two lines, of every list. */
export const ROW_HEIGHT = 64;

/** A list that is loaded page by page, or what is shown instead. */
export function PagedList<Item>({
  paged,
  keyOf,
  label,
  empty,
  children,
}: {
  paged: Paged<Item>;
  keyOf: (item: Item, index: number) => string;
  label: string;
  empty: ComponentChildren;
  children: (item: Item, tabIndex: 0 | -1) => ComponentChildren;
}) {
  const { items, isNew, isLoading, hasMore, trouble, more, reload } = paged;
  return (
    <div class="list">
      <Trouble text={trouble} onRetry={items.length > 0 ? more : reload} />
      {isNew && <Waiting />}
      {!isNew && items.length === 0 && trouble === null && empty}
      {items.length > 0 && (
        <>
          <VirtualList
            items={items}
            keyOf={keyOf}
            label={label}
            rowHeight={ROW_HEIGHT}
            hasMore={hasMore && trouble === null}
            onMore={more}
          >
            {children}
          </VirtualList>
          <p class="count" role="status">
            {items.length.toLocaleString()}
            {hasMore ? (isLoading ? ", more are coming" : " so far, scroll on for more") : " in all"}
          </p>
        </>
      )}
    </div>
  );
}

/** Placeholders as tall as the rows to come. */
export function Waiting() {
  return (
    <div class="waiting" role="status" aria-label="Loading">
      <span />
      <span />
      <span />
    </div>
  );
}

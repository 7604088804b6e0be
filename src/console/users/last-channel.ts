import type { ChannelView } from "../service/views.ts";

const NAME = "last-channel";

/** The channel that was looked at last in this tab, or the first; null where there is none. */
export function lastChannel(channels: readonly Pick<ChannelView, "slug">[]): string | null {
  const last = sessionStorage.getItem(NAME);
  return channels.find(({ slug }) => slug === last)?.slug ?? channels[0]?.slug ?? null;
}

export function rememberChannel(slug: string): void {
  sessionStorage.setItem(NAME, slug);
}

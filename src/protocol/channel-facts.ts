import { z } from "zod";

/** What a page may offer a visitor before it has a token. */
export const channelFacts = z.object({
  maxBodyBytes: z.int(),
  /** Messages may have images. */
  images: z.literal(true).exactOptional(),
  /** Messages may have files, each of at most this size; absent: none may. */
  fileBytes: z.int().exactOptional(),
  /** Visitors may ask for a person. */
  handoff: z.literal(true).exactOptional(),
  /** Nobody is there now, and somebody is again then: Unix time in milliseconds. */
  peopleAgainAt: z.int().exactOptional(),
  /** What a message does while a reply is being written; absent: it waits. */
  whileRunning: z.enum(["steer", "interrupt"]).exactOptional(),
  /** Replies that no page has shown are told to the owner: the page says what it has shown. */
  tellsUnread: z.literal(true).exactOptional(),
  /** The channel does not allow the page's origin. */
  originAllowed: z.literal(false).exactOptional(),
});
export type ChannelFacts = z.infer<typeof channelFacts>;

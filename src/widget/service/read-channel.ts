import type { ChannelFacts as ToldFacts } from "../../protocol/channel-facts.ts";

/**
 * Room for the rest of a message's body: text, context and page address at their maximum lengths, mostly of three-byte
 * characters.
 */
const OTHER_BYTES = 16_384;

/** What a channel allows its visitors. */
export interface ChannelFacts {
  /** Characters that the images of a message may have together, as data: URLs; null if the channel accepts none. */
  imageRoom: number | null;
  /** Largest size of a file of a message; null if the channel accepts none. */
  fileBytes: number | null;
  /** Visitors may ask for a person. */
  handoff: boolean;
  /** Nobody is there now, and somebody is again then: Unix ms; null: somebody is, or nobody ever. */
  peopleAgainAtMs: number | null;
  /** A message steers the reply that is being written, or ends it. */
  speaksAtOnce: boolean;
  /** The page says which replies it has shown. */
  tellsUnread: boolean;
  /** The channel does not allow the page's origin: every request of the widget API will fail. */
  isOriginRefused: boolean;
}

/** The page's owner has been warned. */
let isWarned = false;

/**
 * Asks the service. Its answer can be read on any origin, unlike those of the widget API: a browser does not tell a page
 * that is not allowed from a service that is away.
 */
export async function readChannel(baseUrl: string, publishableKey: string): Promise<ChannelFacts> {
  const url = `${baseUrl}/widget/v1/channel?key=${encodeURIComponent(publishableKey)}`;
  const answer = await fetch(url, { credentials: "omit" });
  // A cast: the service tells these.
  const told = (await answer.json()) as ToldFacts;
  const { images, maxBodyBytes: bytes, handoff, peopleAgainAt = null, tellsUnread, originAllowed } = told;
  const { whileRunning = "queue", fileBytes = null } = told;
  const isOriginRefused = originAllowed === false;
  if (isOriginRefused && !isWarned) warnOfOrigin();
  const imageRoom = images === true ? Math.max(bytes - OTHER_BYTES, bytes / 2) : null;
  return {
    imageRoom,
    fileBytes,
    handoff: handoff === true,
    peopleAgainAtMs: peopleAgainAt,
    speaksAtOnce: whileRunning !== "queue",
    tellsUnread: tellsUnread === true,
    isOriginRefused,
  };
}

function warnOfOrigin(): void {
  const { origin } = location;
  isWarned = true;
  console.warn(
    `chat-agent: the channel does not allow this page's origin, ${origin}. Add it: chat-agent channels update SLUG --add-origin ${origin}`,
  );
}

import type { Board } from "../view/board.ts";
import type { PageHost } from "./page-host.ts";
import type { Shelf } from "../service/storage.ts";
import type { Service } from "../service/transport.ts";
import type { VisitorDesk } from "../service/visitor.ts";

/** What the parts of one conversation have in common. */
export interface ConversationParts {
  service: Service;
  desk: VisitorDesk;
  board: Board;
  host: PageHost;
  /** Shared by the tabs of this origin. */
  shelf: Shelf;
  /** This tab's own; it outlives a navigation. */
  tab: Shelf;
  /** Prefix of Web Lock names. */
  lockName: string;
}

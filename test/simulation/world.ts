import type { Happening } from "./happening.ts";
import type { Messages } from "./instance/messages.ts";
import type { Plan } from "./plan.ts";
import type { Random } from "./random.ts";
import type { Cluster } from "./store/cluster.ts";
import type { Trace } from "./trace.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** What all parts of one simulation share. */
export interface World {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly cluster: Cluster;
  /** A part's own stream of choices. */
  readonly randomOf: (part: string) => Random;
  /** Tells the checker. */
  readonly judge: (happening: Happening) => void;
  readonly messages: Messages;
  /** A fault happened. */
  readonly count: (fault: string) => void;
  /** Clients begin nothing new, and nothing fails any more. */
  readonly faultsAreOver: () => boolean;
}

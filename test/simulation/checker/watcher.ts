import type { Happening } from "../happening.ts";
import type { World } from "../world.ts";
import type { Deletions } from "./deletions.ts";
import type { Ledger } from "./ledger.ts";

/** Some invariants that belong together: looks at everything that happens, and once more when all has come to rest. */
export interface Watcher {
  see: (happening: Happening) => void;
  atRest?: () => void;
}

/** What watchers work with. */
export interface Watch {
  ledger: Ledger;
  deletions: Deletions;
  world: Pick<World, "time" | "cluster" | "plan">;
  /** An invariant is broken. `uid`: the thread that it is about. */
  report: (invariant: string, uid: string | null, text: string) => void;
}

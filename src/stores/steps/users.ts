import type { UserStore } from "../../store.ts";
import type { StepsContext } from "./context.ts";
import { callerAdmission } from "./users/callers.ts";
import { flagSteps } from "./users/flags.ts";
import { grantSteps } from "./users/grants.ts";
import { identitySteps } from "./users/identity.ts";
import { createKnown } from "./known.ts";
import { userLists } from "./users/lists.ts";
import { threadAddition } from "./users/new-thread.ts";
import { createPlaces } from "./users/places.ts";
import { spendingSteps } from "./users/spending.ts";
import { tokenSteps } from "./users/tokens.ts";
import type { KnownToken } from "./users/tokens.ts";
import { visitorAdmission } from "./users/visitors.ts";

/**
 * Users, their tokens, and which user a thread belongs to; in one slot for each channel. `onRotated`: called with the hash of
 * each token that was rotated here.
 */
export function userSteps(
  context: StepsContext,
  onRotated: (tokenHash: string) => void,
): Omit<UserStore, "onTokenRotated" | "listThreads"> {
  const { engine } = context;
  const known = createKnown<KnownToken>();
  const places = createPlaces();
  return {
    ...tokenSteps(engine, { known, places, onRotated }),
    ...visitorAdmission(engine, known),
    ...callerAdmission(engine, createKnown(), places),
    ...threadAddition(engine),
    ...identitySteps(engine, known),
    ...spendingSteps(context),
    ...userLists(engine),
    ...flagSteps(engine),
    ...grantSteps(context),
  };
}

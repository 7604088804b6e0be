import { createKeyDoor } from "../../src/admission/key-door.ts";
import type { KeyDoor } from "../../src/admission/key-door.ts";
import { systemClock } from "../../src/clock.ts";

/** A door for tests of what is behind it. */
export function openKeyDoor(): KeyDoor {
  const config = { clientIpSource: "socket", trustedProxyHops: 1 };
  return createKeyDoor({ config, clock: systemClock, log: { warn() {} } });
}

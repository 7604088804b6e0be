import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Operator } from "../domain/people/operator.ts";
import type { PlainLog } from "../log.ts";
import { mustDeclareAtMost } from "./arrival.ts";
import type { Arrival } from "./arrival.ts";
import type { Directory } from "./directory.ts";
import { createKeyDoor } from "./key-door.ts";

/**
 * Admission to the operator API: the declared length (413), the key (401, or 429 for one more wrong key of many from the
 * address). The route then checks the role and the channels (403). Nothing here calls the store.
 */
export interface OperatorAdmission {
  admit(arrival: Arrival): Operator;
}

export function createOperatorAdmission(dependencies: {
  config: Pick<Config, "serverMaxBodyBytes" | "clientIpSource" | "trustedProxyHops">;
  directory: Pick<Directory, "operatorOf">;
  clock: Pick<Clock, "now">;
  log: Pick<PlainLog, "warn">;
}): OperatorAdmission {
  const { config, directory } = dependencies;
  const keyDoor = createKeyDoor(dependencies);

  return {
    admit({ request, note }) {
      mustDeclareAtMost(config.serverMaxBodyBytes, request);
      const operator = keyDoor.holder(request, (key) => directory.operatorOf(key), "an operator's key (op_)");
      note({ operator: operator.name });
      return operator;
    },
  };
}

import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Operator } from "../domain/operator.ts";
import { Refusal } from "../domain/refusal.ts";
import type { PlainLog } from "../log.ts";
import { mustDeclareAtMost } from "./arrival.ts";
import type { Arrival } from "./arrival.ts";
import { addressReader, countedAs } from "./client-address.ts";
import type { Directory } from "./directory.ts";
import { bearerFrom } from "./keys.ts";
import { createWrongKeys } from "./wrong-keys.ts";

/**
 * Admission to the operator API: the declared length (413), too many wrong keys from the address (429), the key (401). The
 * route then checks the role and the channels (403). Nothing here calls the store.
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
  const { config, directory, clock, log } = dependencies;
  const wrongKeys = createWrongKeys(clock);
  const addressOf = addressReader(config, log);

  return {
    admit({ request, note }) {
      mustDeclareAtMost(config.serverMaxBodyBytes, request);
      const address = countedAs(addressOf(request));
      const waitSeconds = wrongKeys.waitSeconds(address);
      if (waitSeconds !== null) throw new Refusal("rate-limited", "", waitSeconds);
      const header = request.headers.get("authorization");
      const key = bearerFrom(header);
      const operator = key === null ? null : directory.operatorOf(key);
      if (operator === null) {
        // A request without a key is no guess, and is not counted.
        if (header !== undefined) wrongKeys.note(address);
        throw new Refusal("unauthorized");
      }
      note({ operator: operator.name });
      return operator;
    },
  };
}

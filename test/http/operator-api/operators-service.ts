import { hashKey } from "../../../src/keys.ts";
import type { Operator } from "../../../src/domain/people/operator.ts";
import { Secret } from "../../../src/secret.ts";
import type { Store } from "../../../src/store.ts";
import { startService } from "../service.ts";
import type { Got, Sent, Service } from "../service.ts";

/** Operators of every kind; the key of each is `op_NAME`. */
export const OPERATORS: readonly Omit<Operator, "keyHash">[] = [
  { name: "admin", role: "admin", channels: null },
  { name: "agent", role: "agent", channels: null },
  { name: "auditor", role: "auditor", channels: null },
  { name: "shop-admin", role: "admin", channels: ["shop"] },
  { name: "shop-agent", role: "agent", channels: ["shop"] },
  { name: "shop-auditor", role: "auditor", channels: ["shop"] },
];

export interface OperatedService extends Service {
  /** As one of OPERATORS. */
  as: (name: string, method: string, path: string, body?: unknown, more?: Partial<Sent>) => Promise<Got>;
}

export async function startOperated(env: Record<string, string> = {}): Promise<OperatedService> {
  const service = await startService(env);
  await addOperators(service.store);
  await service.renew();
  return {
    ...service,
    as(name, method, path, body, more = {}) {
      const [bare = "", query = ""] = path.split("?");
      return service.ask({
        method,
        path: `/v1/operator${bare}`,
        query,
        headers: { authorization: `Bearer op_${name}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
        ...more,
      });
    },
  };
}

export async function addOperators(store: Store): Promise<void> {
  for (const operator of OPERATORS) {
    await store.addOperator({ ...operator, keyHash: hashKey(new Secret(`op_${operator.name}`)) });
  }
}

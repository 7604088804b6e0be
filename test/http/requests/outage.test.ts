// For src/http/
import { expect, test } from "vitest";
import type { Credential } from "../../../src/http/route.ts";
import { startOperated } from "../operator-api/operators-service.ts";
import { ORIGIN, SECRET_KEY, TRANSPORT_KEY } from "../service.ts";

/** Known without the store. */
const WITHOUT_THE_STORE = ["GET /v1/operator/me"];

test("P24: without the store every route that needs a key is a 503, which says when to come again", async () => {
  const { routes, store, ask, as, newToken, renew } = await startOperated();
  const visitorToken = await newToken();
  // Else there is nothing to unblock, which is known without the store.
  await as("admin", "POST", "/ips", { address: "203.0.113.9" });
  await renew();
  await store.close();
  const credentials: Record<Credential, Record<string, string>> = {
    transportKey: { authorization: `Bearer ${TRANSPORT_KEY}` },
    secretKey: { authorization: `Bearer ${SECRET_KEY}` },
    operatorKey: { authorization: "Bearer op_admin" },
    publishableKey: { origin: ORIGIN, "x-publishable-key": "pk_shop" },
    visitorToken: { origin: ORIGIN, "x-visitor-token": visitorToken },
  };
  const answered: string[] = [];
  let routesAsked = 0;
  for (const { method, path, documentation } of routes) {
    if (documentation === "hidden" || documentation.credential === null) continue;
    const { params, query, body, credential } = documentation;
    const known: Record<string, string> = { slug: "shop", address: "203.0.113.9" };
    const filled = Object.entries(params).reduce(
      (whole, [name, { example }]) => whole.replace(`:${name}`, known[name] ?? String(example)),
      path,
    );
    const needed = Object.entries(query).filter(([, { required }]) => required);
    const asked = needed.map(([name, { example }]): [string, string] => [name, String(example)]);
    const { status, headers } = await ask({
      method,
      path: filled,
      query: new URLSearchParams(asked).toString(),
      headers: { "content-type": "application/json", ...credentials[credential] },
      ...(body ? { body: JSON.stringify(body.example) } : {}),
    });
    routesAsked++;
    if (status !== 503) answered.push(`${method} ${path}`);
    else expect([path, headers["retry-after"], headers["cache-control"]]).toEqual([path, "1", "no-store"]);
  }
  expect(routesAsked).toBeGreaterThan(60);
  expect(answered).toEqual(WITHOUT_THE_STORE);
});

// For src/openid/provider.ts
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { createProvider, ProviderAway } from "../../src/openid/provider.ts";
import type { OpenIdSettings } from "../../src/config/open-id.ts";

test("G1: a provider's answer of 200 MB is not read to its end", async () => {
  let bytes = 0;
  const piece = " ".repeat(65_536);
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const more = () => {
      while (bytes < 200 * 1_048_576 && !response.destroyed) {
        bytes += piece.length;
        if (!response.write(piece)) return void response.once("drain", more);
      }
      response.end("{}");
    };
    more();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = { issuer, clientId: "c", clientSecret: null } as OpenIdSettings;
  const begun = createProvider(settings, systemClock).begin(`${issuer}/back`);
  await expect(begun).rejects.toThrow(ProviderAway);
  await expect(begun).rejects.toThrow("The answer is longer than 1048576 bytes");
  expect(bytes).toBeLessThan(40 * 1_048_576);
});

// For src/openid/provider.ts
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { createProvider, ProviderAway } from "../../src/openid/provider.ts";
import type { OpenIdSettings } from "../../src/config/open-id.ts";
import { openHttpServer } from "../support/servers/http-server.ts";

test("G1: a provider's answer of 200 MB is not read to its end", async () => {
  let bytes = 0;
  const piece = " ".repeat(65_536);
  const issuer = await openHttpServer((_request, response) => {
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
  const settings = { issuer, clientId: "c", clientSecret: null } as OpenIdSettings;
  const begun = createProvider(settings, systemClock).begin(`${issuer}/back`);
  await expect(begun).rejects.toThrow(ProviderAway);
  await expect(begun).rejects.toThrow("The answer is longer than 1048576 bytes");
  expect(bytes).toBeLessThan(40 * 1_048_576);
});

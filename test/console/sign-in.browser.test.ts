// For src/console/shell/, src/openid/flow.ts, src/openid/
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { freePort } from "../support/servers/free-port.ts";
import { CLIENT_ID, openProvider } from "../support/servers/openid-provider.ts";
import type { TestProvider } from "../support/servers/openid-provider.ts";
import { openServiceProcess } from "../support/servers/service-process.ts";
import type { ServiceProcess } from "../support/servers/service-process.ts";
import { SOON, launchBrowser, test } from "../widget/browser.ts";
import { accessibilityTroubles } from "./operating.ts";

let browser: Browser;
let running: ServiceProcess;
let provider: TestProvider;

beforeAll(async () => {
  const port = await freePort();
  provider = await openProvider({ redirectUri: `http://127.0.0.1:${port}/console` });
  [browser, running] = await Promise.all([
    launchBrowser({ webMcp: false }),
    openServiceProcess({
      DATA_DIR: emptyFolder(),
      PORT: String(port),
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_ROLES_CLAIM: "roles",
    }),
  ]);
});

afterAll(async () => {
  await browser.close();
  await running.close();
  await provider.close();
});

test("a colleague signs in with their account, goes on where they wanted to, and out again", async ({
  visit,
  expect,
}) => {
  const { url } = running;
  provider.person = { sub: "s-1", preferred_username: "ada", roles: ["auditor"] };
  const { page, troubles } = await visit(browser, `${url}/console#/audit`);
  const signIn = page.getByRole("button", { name: "Sign in with your account" });
  await signIn.waitFor();
  expect(await accessibilityTroubles(page)).toEqual([]);
  await signIn.press("Enter");
  await page.getByRole("heading", { name: "Audit" }).waitFor();
  await page.getByText("ada, auditor").waitFor();
  await page.getByText("signed in", { exact: true }).first().waitFor();
  expect(page.url()).toBe(`${url}/console#/audit`);
  // A tab that is loaded anew is still signed in.
  await page.reload();
  await page.getByRole("heading", { name: "Audit" }).waitFor();

  const key = String(await page.evaluate("sessionStorage.getItem('operator-key')"));
  const me = () => fetch(`${url}/v1/operator/me`, { headers: { authorization: `Bearer ${key}` } });
  expect((await me()).status).toBe(200);
  await page.getByRole("button", { name: "Sign out" }).press("Enter");
  await signIn.waitFor();
  await expect.poll(async () => (await me()).status, SOON).toBe(401);
  expect(await page.evaluate("sessionStorage.length")).toBe(0);

  provider.person = { sub: "s-2", preferred_username: "eve", roles: [] };
  const eve = await visit(browser, `${url}/console`);
  await eve.page.getByRole("button", { name: "Sign in with your account" }).press("Enter");
  await eve.page.getByText("You are known as eve, and have no role here").waitFor();
  // The answer of a sign-in that another page began.
  await page.goto(`${url}/console?code=stolen&state=theirs`);
  await page.getByText("did not begin in this tab").waitFor();
  expect(page.url()).toBe(`${url}/console`);
  expect(troubles).toEqual([]);
});

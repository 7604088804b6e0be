import type { ChatAgentElement } from "./chat-agent.ts";
import { readAccount, writeAccount } from "./stored.ts";

/**
 * Signing in: the page sends the visitor's token to the shop's own server, which tells the service whose it is. The
 * page never sees the channel's secret key.
 */
export function offerSignIn(agent: ChatAgentElement, button: HTMLButtonElement): void {
  const draw = () =>
    (button.textContent = readAccount() === null ? "Sign in" : `${readAccount()} · Sign out`);
  button.addEventListener("click", () => {
    button.disabled = true;
    (readAccount() === null ? signIn(agent) : signOut(agent))
      .catch((error: unknown) => console.error(error))
      .finally(() => {
        button.disabled = false;
        draw();
      });
  });
  draw();
}

async function signIn(agent: ChatAgentElement): Promise<void> {
  const response = await fetch("/demo/sign-in", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ visitorToken: await agent.getVisitorToken() }),
  });
  if (!response.ok) throw new Error(`Cannot sign in: the shop answered ${response.status}`);
  // A cast: the demo's own endpoint answers it (src/demo/sign-in.ts).
  const { name } = (await response.json()) as { name: string };
  writeAccount(name);
  await agent.refresh();
}

/** The next visitor at this browser may be another person. */
async function signOut(agent: ChatAgentElement): Promise<void> {
  writeAccount(null);
  await agent.reset();
}

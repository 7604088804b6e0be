import { addOperators } from "../operator-api/operators-service.ts";
import type { TestService } from "../../support/servers/service.ts";

/** A person of the site who has taken a thread of the channel `shop`, through the operator API. */
export interface Person {
  write(text: string): Promise<void>;
  giveBack(): Promise<void>;
}

export async function takeOver(service: TestService, threadId: string): Promise<Person> {
  await addOperators(service.store);
  await service.directory.renew();
  const act = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(`${service.url}/v1/operator/channels/shop/threads/${threadId}/${path}`, {
      method: "POST",
      headers: { authorization: "Bearer op_agent", "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`Cannot ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const { epoch } = (await act("take", { epoch: 0 })) as { epoch: number };
  let said = 0;
  return {
    async write(text) {
      await act("messages", { text, epoch, clientMessageId: `p-${++said}` });
    },
    async giveBack() {
      await act("return", { epoch });
    },
  };
}

import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { warnOwner } from "../warn-owner.ts";

/** Lets the visitor approve the calls that wait for that, or decline them. */
export function approveCalls({ api, visitor, view, host }: ConversationDependencies): void {
  const change = (decided: readonly string[]) => view.change({ decided });

  /** Hidden at once, and asked again where the service could not be told. */
  async function decide(callId: string, approved: boolean): Promise<void> {
    const { decided = [] } = view.state;
    change([...decided, callId]);
    try {
      const { threadId, visitorToken } = await visitor.thread();
      const path = `/threads/${encodeURIComponent(threadId)}/approvals`;
      await api({ path, visitorToken, body: { callId, approved } });
    } catch (error) {
      warnOwner(error);
      view.notify(host.strings().failed, true);
      change((view.state.decided ?? []).filter((one) => one !== callId));
    }
  }

  view.change({ approve: (callId, approved) => void decide(callId, approved) });
}

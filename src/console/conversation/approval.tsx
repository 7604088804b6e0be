import { useState } from "preact/hooks";
import type { Line } from "../../../machines/line.ts";
import { printable, printableArguments } from "../../client/core/printable.ts";
import type { Approval as Asked } from "../../protocol/lines.ts";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import { useConsole } from "../shell/console-context.ts";

/** A call that waits for approval: by the visitor, or by an operator, who decides here. */
export function Approval({ slug, id, lines }: { slug: string; id: string; lines: readonly Line[] }) {
  const asked = askedIn(lines);
  if (asked === null) return null;
  if (asked.by === "visitor") return <p class="quiet asked">Waits for the visitor to approve {asked.tool}</p>;
  return <Decision key={asked.callId} slug={slug} id={id} asked={asked} />;
}

function Decision({ slug, id, asked }: { slug: string; id: string; asked: Asked }) {
  const { api } = useConsole();
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const decide = async (approved: boolean) => {
    setBusy(true);
    try {
      await api.send("POST", pathOf("channels", slug, "threads", id, "approvals"), {
        callId: asked.callId,
        approved,
      });
      setTrouble(null);
    } catch (error) {
      setTrouble(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <section class="asked" aria-label="A call that waits for approval">
      <h2>The assistant asks to call {printable(asked.tool)}</h2>
      <dl>
        {printableArguments(asked.arguments).map(([name, value]) => (
          <div key={name}>
            <dt dir="auto">{name}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ))}
      </dl>
      <Trouble text={trouble} />
      <p class="actions">
        <button type="button" class="button main" disabled={isBusy} onClick={() => void decide(true)}>
          Approve
        </button>
        <button type="button" class="button" disabled={isBusy} onClick={() => void decide(false)}>
          Decline
        </button>
      </p>
    </section>
  );
}

/** Of the steps as they are now, the one that waits; null: none does. */
function askedIn(lines: readonly Line[]): Asked | null {
  const steps = new Map(lines.flatMap((line) => (line.type === "step" ? [[line.id, line] as const] : [])));
  for (const { phase, approval } of steps.values()) if (phase === "running" && approval) return approval;
  return null;
}

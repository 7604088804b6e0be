import { useState } from "preact/hooks";
import { Snooze } from "../conversation/snooze.tsx";
import { TextField } from "../parts/fields.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import type { PlacedThread } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";

/** Of one request. */
const AT_ONCE = 100;

/** What can be done with the chosen conversations at once. `onDone`: nothing is chosen any more. */
export function Bulk({ chosen, onDone }: { chosen: readonly PlacedThread[]; onDone: () => void }) {
  const { api, tell } = useConsole();
  const [asked, setAsked] = useState<"label" | "snooze" | null>(null);
  const [label, setLabel] = useState("");
  const [trouble, setTrouble] = useState<string | null>(null);
  if (chosen.length === 0) return null;

  const change = async (body: object, done: string) => {
    try {
      const failed: { message: string }[] = [];
      for (const [slug, ids] of byChannel(chosen)) {
        for (let at = 0; at < ids.length; at += AT_ONCE) {
          const some = { ids: ids.slice(at, at + AT_ONCE), ...body };
          const path = `${pathOf("channels", slug, "threads")}/bulk`;
          failed.push(...(await api.send<{ failed: { message: string }[] }>("POST", path, some)).failed);
        }
      }
      setAsked(null);
      if (failed.length > 0) return setTrouble(`${failed.length} stayed as they were: ${failed[0]?.message}`);
      setTrouble(null);
      tell(done);
      onDone();
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };

  const count = chosen.length === 1 ? "1 conversation" : `${chosen.length.toLocaleString()} conversations`;
  return (
    <div class="bulk" role="toolbar" aria-label="The chosen conversations">
      <span role="status">{count}</span>
      <button type="button" class="button small" onClick={() => setAsked("label")}>
        Label…
      </button>
      <button type="button" class="button small" onClick={() => setAsked("snooze")}>
        Snooze…
      </button>
      <button type="button" class="button small" onClick={onDone}>
        Choose none
      </button>
      <Trouble text={trouble} />
      {asked === "snooze" && (
        <Snooze
          onChoose={(snoozeUntil) => void change({ snoozeUntil }, `${count} snoozed`)}
          onClose={() => setAsked(null)}
        />
      )}
      {asked === "label" && (
        <FormDialog
          title={`Label ${count}`}
          send="Add the label"
          onSend={() => change({ addLabels: [label.trim()] }, `${count} labelled`)}
          onClose={() => setAsked(null)}
        >
          <TextField label="Label" value={label} onInput={setLabel} placeholder="refund" required autoFocus />
        </FormDialog>
      )}
    </div>
  );
}

function byChannel(threads: readonly PlacedThread[]): Map<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const { channel, id } of threads) ids.set(channel, [...(ids.get(channel) ?? []), id]);
  return ids;
}

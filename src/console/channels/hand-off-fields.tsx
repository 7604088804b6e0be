import { CheckField, TextField } from "../parts/fields.tsx";
import type { ChannelDraft } from "./draft.ts";
import { ReplyFields } from "./reply-fields.tsx";

/** Whether a person may take over, and what the visitor is told meanwhile. */
export function HandOffFields({
  draft,
  onChange,
}: {
  draft: ChannelDraft;
  onChange: (change: Partial<ChannelDraft>) => void;
}) {
  return (
    <fieldset>
      <legend>People</legend>
      <CheckField
        label="A person may take over"
        hint="The model, the visitor and operators can ask for it; who waits is in the inbox."
        checked={draft.handsOff}
        onChange={(handsOff) => onChange({ handsOff })}
      />
      {draft.handsOff && (
        <>
          <TextField
            label="Seconds to wait for a person"
            value={draft.waitSeconds}
            onInput={(text) => onChange({ waitSeconds: text.replaceAll(/\D/g, "") })}
            inputMode="numeric"
            placeholder="600"
          />
          <TextField
            label="Text when a person is called"
            value={draft.handoffMessage}
            onInput={(handoffMessage) => onChange({ handoffMessage })}
            placeholder="a sentence of the service"
          />
          <TextField
            label="Text when nobody came"
            value={draft.unavailable}
            onInput={(unavailable) => onChange({ unavailable })}
            placeholder="a sentence of the service"
          />
          <TextField
            label="Seconds that a person may leave a visitor without an answer"
            value={draft.answerSeconds}
            onInput={(text) => onChange({ answerSeconds: text.replaceAll(/\D/g, "") })}
            inputMode="numeric"
            placeholder="600"
          />
          <TextField
            label="Text when the person did not answer"
            value={draft.unanswered}
            onInput={(unanswered) => onChange({ unanswered })}
            placeholder="a sentence of the service"
          />
          <TextField
            label="Queues of operators"
            rows={2}
            value={draft.queues}
            onInput={(queues) => onChange({ queues })}
            hint="One a line. The assistant, visitors and operators choose one; none: everybody answers everything."
          />
          <ReplyFields replies={draft.replies} onChange={(replies) => onChange({ replies })} />
        </>
      )}
    </fieldset>
  );
}

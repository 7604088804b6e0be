import { CheckField, TextField } from "../parts/fields.tsx";
import type { ChannelDraft } from "./draft.ts";
import { ReplyFields } from "./reply-fields.tsx";

/** Beside each other: how long somebody may be waited for, and what the visitor is told meanwhile and then. */
const WAITING = [
  ["waitSeconds", "Seconds to wait for a person", "seconds"],
  ["handoffMessage", "Text when a person is called", "text"],
  ["unavailable", "Text when nobody came", "text"],
  ["answerSeconds", "Seconds that a person may leave a visitor without an answer", "seconds"],
  ["unanswered", "Text when the person did not answer", "text"],
] as const;

const KINDS = {
  seconds: { inputMode: "numeric", placeholder: "600" },
  text: { placeholder: "a sentence of the service" },
} as const;

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
          {WAITING.map(([name, label, kind]) => (
            <TextField
              key={name}
              label={label}
              value={draft[name]}
              onInput={(text) => onChange({ [name]: kind === "seconds" ? text.replaceAll(/\D/g, "") : text })}
              {...KINDS[kind]}
            />
          ))}
          <TextField
            label="Queues of operators"
            rows={2}
            value={draft.queues}
            onInput={(queues) => onChange({ queues })}
            hint="One a line. The assistant, visitors and operators choose one; none: everybody answers everything."
          />
          <TextField
            label="Hours in which somebody is there"
            rows={5}
            value={draft.week}
            onInput={(week) => onChange({ week })}
            placeholder={"mon 09:00-12:00 13:00-17:30\ntue 09:00-17:30"}
            hint="A day a line. Outside them visitors are told when somebody is there again, and may leave an address. Empty: somebody is always there."
          />
          {draft.week.trim() !== "" && (
            <>
              <TextField
                label="Time zone of the hours"
                value={draft.timeZone}
                onInput={(timeZone) => onChange({ timeZone })}
                placeholder="Europe/Berlin"
              />
              <TextField
                label="Days on which nobody is there"
                rows={2}
                value={draft.holidays}
                onInput={(holidays) => onChange({ holidays })}
                placeholder="2026-12-25"
                hint="One a line."
              />
            </>
          )}
          <CheckField
            label="Ask visitors how a person has helped"
            hint="Five faces and a comment, when the person has closed the conversation or given it back."
            checked={draft.asksRating}
            onChange={(asksRating) => onChange({ asksRating })}
          />
          <ReplyFields replies={draft.replies} onChange={(replies) => onChange({ replies })} />
        </>
      )}
    </fieldset>
  );
}

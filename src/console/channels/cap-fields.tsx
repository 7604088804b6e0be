import { TextField } from "../parts/fields.tsx";
import type { ChannelDraft } from "./draft.ts";

/** What a channel, a user and a run may spend. */
export function CapFields({
  draft,
  onChange,
}: {
  draft: ChannelDraft;
  onChange: (change: Partial<ChannelDraft>) => void;
}) {
  const cap = (
    name: "maxTokensPerDay" | "maxTokensPerUserPerDay" | "maxOutputTokensPerRun",
    label: string,
  ) => (
    <TextField
      label={label}
      value={draft[name]}
      onInput={(text) => onChange({ [name]: text.replaceAll(/\D/g, "") })}
      inputMode="numeric"
      placeholder="no cap"
    />
  );
  return (
    <fieldset>
      <legend>Spending caps</legend>
      <p class="hint">Tokens, input plus output, per UTC day. Empty: no cap.</p>
      <div class="caps">
        {cap("maxTokensPerDay", "The channel, in a day")}
        {cap("maxTokensPerUserPerDay", "One user, in a day")}
        {cap("maxOutputTokensPerRun", "Output of one run")}
      </div>
    </fieldset>
  );
}

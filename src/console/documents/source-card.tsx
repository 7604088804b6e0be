import { useId, useState } from "preact/hooks";
import { Fact } from "../parts/fact.tsx";
import { numberText } from "../parts/numbers.ts";
import { Question } from "../parts/question.tsx";
import { Time } from "../parts/times.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import type { SourceView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import { placeOf, standingOf } from "./source-standing.ts";

/** One place with documents: how it stands, what it has, what could not be read and why. */
export function SourceCard({
  slug,
  source,
  mayAct,
  onActed,
}: {
  slug: string;
  source: SourceView;
  mayAct: boolean;
  onActed: () => void;
}) {
  const { api, tell } = useConsole();
  const { name, every = "24h", pages, passages, readAt, dueAt, failed, failures, fault } = source;
  const heading = useId();
  const [asks, setAsks] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const path = pathOf("channels", slug, "knowledge");
  const read = async () => {
    setTrouble(null);
    try {
      await api.send("POST", `${path}/sync`, { name });
      onActed();
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  const remove = async () => {
    await api.send("DELETE", `${path}${pathOf(name)}`);
    setAsks(false);
    tell(`${name} is removed`);
    onActed();
  };
  const standing = standingOf(source);
  return (
    <section class="document-source" aria-labelledby={heading}>
      <div class="endpoint-head">
        <h2 id={heading}>{name}</h2>
        <span class={`flag ${standing.kind}`}>{standing.word}</span>
        {mayAct && (
          <span class="actions">
            <button
              type="button"
              class="button small"
              disabled={source.state === "reading"}
              onClick={() => void read()}
            >
              Read now
            </button>
            <button type="button" class="button small" onClick={() => setAsks(true)}>
              Remove
            </button>
          </span>
        )}
      </div>
      <p class="mono place">{placeOf(source)}</p>
      <Trouble text={trouble} />
      {fault !== null && (
        <p class="off">
          It could not be read to its end: {fault}. What was read of it before is still answered from.
        </p>
      )}
      <dl class="facts">
        <Fact name="Pages">{numberText(pages)}</Fact>
        <Fact name="Passages">{numberText(passages)}</Fact>
        <Fact name="Read">{readAt === null ? "never" : <Time at={readAt} style="ago" />}</Fact>
        <Fact name="Every">{every}</Fact>
        {dueAt !== null && (
          <Fact name="Next">
            <Time at={dueAt} />
          </Fact>
        )}
      </dl>
      {failed > 0 && (
        <details class="failures">
          <summary>
            {numberText(failed)} {failed === 1 ? "page" : "pages"} could not be read
          </summary>
          <ul>
            {failures.map(({ url, why }) => (
              <li key={`${url} ${why}`}>
                <span class="mono">{url}</span>
                <span class="why">{why}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {asks && (
        <Question title={`Remove ${name}?`} yes="Remove it" onYes={remove} onClose={() => setAsks(false)}>
          <p>
            The assistant answers from its {numberText(pages)} {pages === 1 ? "page" : "pages"} no longer.
            Nothing at {placeOf(source)} changes.
          </p>
        </Question>
      )}
    </section>
  );
}

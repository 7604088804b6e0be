import type { VNode } from "preact";
import type { Language } from "../../strings/language.ts";
import type { ShownMessage } from "../view-state.ts";

/** The documents that a finished reply rests on. A file of the site's owner has no address: its title is shown alone. */
export function Sources({ message, language }: { message: ShownMessage; language: Language }): VNode | null {
  const { steps, live, sources = steps.flatMap((step) => step.sources ?? []) } = message;
  const named = [...new Map(sources.map((source) => [source.url, source])).values()];
  if (live || named.length === 0) return null;
  const { strings } = language;
  return (
    <nav class="sources" part="sources" aria-label={strings.sources}>
      <span aria-hidden="true">{strings.sources}</span>
      <ul>
        {named.map(({ title, url }) => (
          <li key={url}>
            {isWebAddress(url) ? (
              <a href={url} target="_blank" rel="noopener noreferrer" dir="auto" title={url}>
                {title}
              </a>
            ) : (
              <span dir="auto" title={url}>
                {title}
              </span>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** No script, and nothing of the visitor's machine. */
function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

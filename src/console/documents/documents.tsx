import { useState } from "preact/hooks";
import { Waiting } from "../lists/paged-list.tsx";
import { Empty } from "../parts/empty.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { useLoaded } from "../parts/use-loaded.ts";
import { useLookAgain } from "../parts/use-look-again.ts";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import type { SourceView } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { AddSource } from "./add-source.tsx";
import { SourceCard } from "./source-card.tsx";
import { TryQuestion } from "./try-question.tsx";

/** The documents that a channel's assistant answers from: where they are, how their reading went, what a question finds. */
export function Documents({ slug }: { slug: string }) {
  const { api, me, tell } = useConsole();
  const may = mayOf(me);
  const path = pathOf("channels", slug, "knowledge");
  const loaded = useLoaded<SourceView[]>(
    async (signal) => (await api.list<SourceView>(path, {}, signal)).items,
    [slug],
  );
  // They are read by the service, whoever looks.
  useLookAgain(loaded.reload);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isAdding, setAdding] = useState(false);
  const sources = loaded.value;
  const readAll = async () => {
    setTrouble(null);
    try {
      await api.send("POST", `${path}/sync`, {});
      tell("The documents are being read");
      loaded.reload();
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <Titled
      title="Documents"
      above={
        <>
          <a href={linkTo(["channels"])}>Channels</a> / <a href={linkTo(["channels", slug])}>{slug}</a>
        </>
      }
      actions={
        may.changeChannels && (
          <>
            {sources !== null && sources.length > 0 && (
              <button type="button" class="button" onClick={() => void readAll()}>
                Read now
              </button>
            )}
            <button type="button" class="button" onClick={() => setAdding(true)}>
              Add a source
            </button>
          </>
        )
      }
    >
      <Trouble text={loaded.trouble} onRetry={loaded.reload} />
      <Trouble text={trouble} />
      {sources === null && loaded.trouble === null && <Waiting />}
      {sources?.length === 0 && (
        <Empty title="This channel has no documents.">
          <p>
            With documents the assistant answers from your own pages and files, and says from which. Add the
            address of your help pages, or a folder in the channel's <code>knowledge</code> in the channels
            file.
          </p>
        </Empty>
      )}
      {sources !== null && sources.length > 0 && (
        <div class="documents">
          {may.readTexts && <TryQuestion slug={slug} />}
          {sources.map((source) => (
            <SourceCard
              key={source.name}
              slug={slug}
              source={source}
              mayAct={may.changeChannels}
              onActed={loaded.reload}
            />
          ))}
        </div>
      )}
      {isAdding && (
        <AddSource
          slug={slug}
          onAdded={() => {
            setAdding(false);
            loaded.reload();
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </Titled>
  );
}

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { showPrintable } from "./parts/printable-nodes.ts";
import { Question } from "./parts/question.tsx";
import { messageOf } from "./service/problem.ts";
import { Console } from "./shell/console.tsx";
import { forgetKey, isSignedIn, keepKey, takeKey } from "./shell/key.ts";
import type { TakenKey } from "./shell/key.ts";
import { finishSignIn, signOut, takeAnswer } from "./shell/openid.ts";
import { SignIn } from "./shell/sign-in.tsx";

function Page({ first, answer }: { first: TakenKey; answer: string | null }) {
  const [key, setKey] = useState(first.key);
  const [offered, setOffered] = useState(first.offered);
  useEffect(() => {
    onTaken = (taken) => {
      setKey(taken.key);
      setOffered(taken.offered);
    };
  }, []);
  const [reason, setReason] = useState<string | null>(null);
  const [finishing, setFinishing] = useState(answer !== null);
  useEffect(() => {
    if (answer === null) return;
    finishSignIn(answer)
      .then(setKey, (error: unknown) => setReason(messageOf(error)))
      .finally(() => setFinishing(false));
  }, []);
  if (finishing) {
    return (
      <main class="sign-in">
        <h1>Console</h1>
        <p role="status">Signing in</p>
      </main>
    );
  }
  if (key === null) {
    return (
      <SignIn
        reason={reason}
        onKey={(given) => {
          keepKey(given);
          setReason(null);
          setKey(given);
        }}
      />
    );
  }
  return (
    <>
      <Console
        key={key}
        keyText={key}
        onSignOut={(why) => {
          const wasSignedIn = isSignedIn();
          if (why === null && wasSignedIn) signOut(key);
          forgetKey();
          setReason(why !== null && wasSignedIn ? "You are signed out. Sign in again to go on." : why);
          setKey(null);
        }}
      />
      {offered !== null && (
        <Question
          title="Use another key?"
          yes="Use the link's key"
          onClose={() => setOffered(null)}
          onYes={() => {
            if (isSignedIn()) signOut(key);
            keepKey(offered);
            setOffered(null);
            setKey(offered);
            return Promise.resolve();
          }}
        >
          <p>
            You followed a link that brings an operator key. This tab is signed in with another one. With the
            link's key, all that you do from here on is done in the name of its owner.
          </p>
        </Question>
      )}
    </>
  );
}

showPrintable();
const answer = takeAnswer();
// Before the console hears of it: this is none of its places.
addEventListener("hashchange", (event) => {
  if (!location.hash.startsWith("#key=")) return;
  event.stopImmediatePropagation();
  const { pathname, search, hash } = new URL(event.oldURL);
  onTaken(takeKey(pathname + search + hash));
});
let onTaken = (_taken: TakenKey) => {};
const begun = takeKey();
render(<Page first={answer === null ? begun : { ...begun, key: null }} answer={answer} />, document.body);

/**
 * Is this page about to be left? A page tool may start a navigation and return; its result must then be posted by the
 * next page, because a request made now would be cut off. A navigation within the document, a download, and one that
 * the page prevented or handles itself are no departure.
 */
export interface DepartureWatch {
  leaving(): boolean;
  /** Resolves when the page is here after all: back from the browser's page cache, or not left within the time. */
  stayed(ms: number): Promise<void>;
  stop(): void;
}

export function watchDeparture(): DepartureWatch {
  const navigation = (window as Partial<Window & typeof globalThis>).navigation;
  let started: Event | null = null;
  const note = (event: Event) => (started = event);
  const clear = () => (started = null);
  const noteNavigate = (event: NavigateEvent) => {
    if (event.destination.sameDocument || event.hashChange || event.downloadRequest !== null) return;
    started = event;
  };

  if (navigation === undefined) {
    window.addEventListener("beforeunload", note);
  } else {
    navigation.addEventListener("navigate", noteNavigate);
    navigation.addEventListener("navigateerror", clear);
  }
  let isBack = () => {};
  const noteShown = ({ persisted }: PageTransitionEvent) => {
    if (!persisted) return;
    clear();
    isBack();
  };
  window.addEventListener("pageshow", noteShown);
  return {
    // Asked late on purpose: handlers that prevent or intercept run after ours.
    leaving: () => started !== null && !started.defaultPrevented && !navigation?.transition,
    stayed: (ms) =>
      new Promise((resolve) => {
        isBack = resolve;
        setTimeout(resolve, ms);
      }),
    stop() {
      window.removeEventListener("pageshow", noteShown);
      window.removeEventListener("beforeunload", note);
      navigation?.removeEventListener("navigate", noteNavigate);
      navigation?.removeEventListener("navigateerror", clear);
    },
  };
}

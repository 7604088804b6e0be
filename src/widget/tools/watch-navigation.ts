/** Whether this page is about to be left for another document. */
export interface NavigationWatch {
  isLeaving(): boolean;
  /** Resolves when the page stays after all: after `ms`, or when it is back from the browser's page cache. */
  stayed(ms: number): Promise<void>;
  stop(): void;
}

/**
 * A page tool may start a navigation and then return. The next page must post its result, because a request made now
 * would be cut off. These do not count: navigation within the document, a download, a navigation that the page prevents
 * or handles itself.
 */
export function watchNavigation(): NavigationWatch {
  // Missing in browsers before 2026.
  const navigation: Navigation | undefined = window.navigation;
  const watching = new AbortController();
  const { signal } = watching;
  let started: Event | null = null;
  let onReturn = () => {};

  if (navigation === undefined) {
    window.addEventListener("beforeunload", (event) => (started = event), { signal });
  } else {
    const note = (event: NavigateEvent) => {
      if (event.destination.sameDocument || event.hashChange || event.downloadRequest !== null) return;
      started = event;
    };
    navigation.addEventListener("navigate", note, { signal });
    navigation.addEventListener("navigateerror", () => (started = null), { signal });
  }
  const noteShown = ({ persisted }: PageTransitionEvent) => {
    if (!persisted) return;
    started = null;
    onReturn();
  };
  window.addEventListener("pageshow", noteShown, { signal });
  return {
    // Checked late: handlers that prevent or intercept the event run after ours.
    isLeaving: () => started !== null && !started.defaultPrevented && !navigation?.transition,
    stayed: (ms) =>
      new Promise((resolve) => {
        onReturn = resolve;
        setTimeout(resolve, ms);
      }),
    stop: () => watching.abort(),
  };
}

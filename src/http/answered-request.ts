/** A request that was answered, for metrics. A stream counts as answered when its headers are on their way. */
export interface Answered {
  /** The route's pattern, or `none`: never a path, which anybody may choose. */
  route: string;
  status: number;
  ms: number;
}

/** One series of the stacked bars, with its colour on the whole page. */
export interface Series {
  readonly name: string;
  readonly color: string;
}

/** One row of the stacked bars, with the colour it has everywhere on the page. */
export interface Series {
  readonly name: string;
  readonly color: string;
}

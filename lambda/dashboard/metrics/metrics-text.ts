/** A value with its labels. Amounts are decimal strings, so that no digit is lost on the way. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number | string;
}

export interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
}

const escapedHelp = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapedLabel = (text: string) => escapedHelp(text).replaceAll('"', '\\"');

const labelsText = (labels: Readonly<Record<string, string>> = {}): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapedLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
};

/**
 * A metric in Prometheus' text format, version 0.0.4. Not prom-client, which keeps metrics in a process and their values as it rounds them:
 * here they are read anew for each scrape.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export const metricText = ({ name, type, help }: Metric, samples: readonly Sample[]): string =>
  [
    `# HELP ${name} ${escapedHelp(help)}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels, value }) => `${name}${labelsText(labels)} ${value}`),
    '',
  ].join('\n');

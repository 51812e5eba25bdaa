import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/** Where the metrics of a stage are. */
export const metricNamespace = (stage: string): string => `AiSpendGateway/${stage}`;

/**
 * Counts the log lines that hold this phrase, as one metric over all the log groups. A phrase, since the runtime puts words of
 * its own before the JSON that console prints.
 */
export const countLogLines = (
  scope: Construct,
  { stage, metricName }: { readonly stage: string; readonly metricName: string },
  logGroups: readonly ILogGroup[],
  phrase: string,
): void => {
  for (const [index, logGroup] of logGroups.entries()) {
    new MetricFilter(scope, `${metricName}Filter${index}`, {
      metricNamespace: metricNamespace(stage),
      metricName,
      logGroup,
      filterPattern: FilterPattern.allTerms(phrase),
      metricValue: '1',
      defaultValue: 0,
    });
  }
};

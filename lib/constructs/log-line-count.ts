import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/** Counts the log lines that hold this phrase, as a metric. A phrase, since the runtime puts words of its own before console's JSON. */
export const countLogLines = (scope: Construct, metricName: string, logGroup: ILogGroup, phrase: string) => {
  const namespace = 'AiSpendGateway';
  new MetricFilter(scope, `${metricName}Filter`, {
    metricNamespace: namespace,
    metricName,
    logGroup,
    filterPattern: FilterPattern.allTerms(phrase),
    metricValue: '1',
    defaultValue: 0,
  });
  return { namespace, metricName };
};

import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';
import { HandlerFunction, type HandlerFunctionProps } from './handler-function.ts';

export interface ScheduledFunctionProps extends HandlerFunctionProps {
  readonly every: Duration;
}

/** A function that runs at a fixed rate. A failed run is not repeated: the next run continues its work. */
export class ScheduledFunction extends HandlerFunction {
  readonly every: Duration;

  constructor(scope: Construct, id: string, props: ScheduledFunctionProps) {
    super(scope, id, props);
    this.every = props.every;
    this.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    new Rule(this, 'Schedule', {
      description: props.description,
      schedule: Schedule.rate(props.every),
      targets: [new LambdaFunction(this, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
    });
  }
}

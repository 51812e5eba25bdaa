import { createResolver } from '../../local/host/template/intrinsics.ts';
import { hosted, stackNames, synthStage } from '../lib/synth-stage.ts';
import { policiesOf } from './judge.ts';

/** The policies of a stage whose gateway runs in containers, with the names of its task, which is a caller, and of its log. */
export const policiesInContainers = () => {
  const stage = synthStage({ ...hosted, gateway: { compute: 'containers' } });
  const stacks = stackNames.map((name) => ({
    name,
    localName: name,
    template: { Outputs: {}, ...stage(name).toJSON() } as never,
    assets: new Map<string, string>(),
  }));
  const nameOf = (type: string) => `gateway-${Object.keys(stage('gateway').findResources(type))[0]}`;
  return {
    ...policiesOf({ stacks, resolve: createResolver(stacks, '') }),
    task: nameOf('AWS::ECS::TaskDefinition'),
    log: nameOf('AWS::Logs::LogGroup'),
  };
};

import { describe, expect, it } from '@jest/globals';
import { brokenQuotas, type CloudFormationTemplate, templateQuotas } from '../../../bin/template-quotas.ts';
import { filledIn, inContainers, published, stacks, synthStage } from '../synth-stage.ts';

const templatesOf = (settings: object) =>
  stacks.map((stack) => [stack, synthStage(settings)(stack).toJSON() as CloudFormationTemplate] as const);

describe('quotas of AWS', () => {
  it.each([
    ['by default', {}],
    ['filled in', filledIn],
    ['published', published],
    ['in containers', inContainers],
  ])('are respected by the templates of a stage %s', (_, settings) => {
    for (const [stack, template] of templatesOf(settings)) expect([stack, ...brokenQuotas(template)]).toEqual([stack]);
  });

  it('are each measured somewhere: a row that finds nothing checks nothing', () => {
    const templates = [filledIn, inContainers].flatMap((settings) => templatesOf(settings).map(([, each]) => each));
    const blind = templateQuotas.filter(({ measure }) =>
      templates.every((template) => measure(template).every(({ amount }) => amount === 0)),
    );
    expect(blind.map(({ what }) => what)).toEqual([]);
  });

  it.each([
    [
      'a regular expression of 201 characters',
      {
        Type: 'AWS::WAFv2::WebACL',
        Properties: { Rules: [{ Statement: { RegexMatch: { RegexString: 'x'.repeat(201) } } }] },
      },
      /^It: 201 characters of a regular expression of the firewall, and AWS takes 200\. See https:/,
    ],
    [
      'an API of 301 resources',
      {
        Type: 'AWS::ApiGateway::RestApi',
        Properties: { Body: { paths: Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`/a${n}`, {}])) } },
      },
      /^It: 301 resources of an API, and AWS takes 300 at first\./,
    ],
    [
      'a policy that is too long',
      { Type: 'AWS::IAM::Policy', Properties: { PolicyDocument: { Statement: ['x'.repeat(10_240)] } } },
      /^It: \d+ characters of a policy/,
    ],
  ])('find %s', (_, resource, message) => {
    expect(brokenQuotas({ Resources: { It: resource } })).toEqual([expect.stringMatching(message)]);
  });

  it('find a template of 501 resources', () => {
    const Resources = Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`R${n}`, { Type: 'AWS::SNS::Topic' }]));
    expect(brokenQuotas({ Resources })).toEqual([expect.stringMatching(/^the template: 501 resources of a template/)]);
  });
});

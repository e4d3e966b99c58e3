import {
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { packageVersion } from '../runtime/version.ts';

/**
 * Describes this program to a receiver. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override the defaults.
 * @param instance identifies this process
 */
export function serviceResource(name: string, instance: string): Resource {
  return resourceFromAttributes({
    'service.name': name,
    'service.version': packageVersion(),
    'service.instance.id': instance,
  }).merge(detectResources({ detectors: [envDetector] }));
}

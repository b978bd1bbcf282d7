"""How are the trainings that probes ask for carried out, shared and kept?"""

from assay.trainings.graph import AnyJob
from assay.trainings.jobs import BaseModel, run_job
from assay.trainings.probing import AskedOfTrained, ask_trained
from assay.trainings.scales import scale_for

__all__ = ["AnyJob", "AskedOfTrained", "BaseModel", "ask_trained", "run_job", "scale_for"]

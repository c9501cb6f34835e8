import java.io.FileReader;
import java.util.Arrays;
import weka.classifiers.bayes.AODE;
import weka.core.Instances;

/** Times Weka's AODE in a warm process: java -cp weka.jar WekaAODE.java train.arff test.arff repeats. */
public class WekaAODE {
    public static void main(String[] arguments) throws Exception {
        Instances train = new Instances(new FileReader(arguments[0]));
        Instances test = new Instances(new FileReader(arguments[1]));
        train.setClassIndex(train.numAttributes() - 1);
        test.setClassIndex(test.numAttributes() - 1);
        int repeats = Integer.parseInt(arguments[2]);
        double[] fit = new double[repeats], predict = new double[repeats];
        double sum = 0;
        for (int r = -3; r < repeats; r++) { // three rounds for the compiler to warm up
            long began = System.nanoTime();
            AODE model = new AODE();
            model.buildClassifier(train);
            long built = System.nanoTime();
            for (int s = 0; s < test.numInstances(); s++) {
                sum += model.distributionForInstance(test.instance(s))[0];
            }
            long done = System.nanoTime();
            if (r >= 0) {
                fit[r] = (built - began) * 1e-9;
                predict[r] = (done - built) * 1e-9;
            }
        }
        Arrays.sort(fit);
        Arrays.sort(predict);
        System.out.println(fit[repeats / 2] + " " + predict[repeats / 2] + " " + sum);
    }
}
